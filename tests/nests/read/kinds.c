/* Kinds of C that other readers, or ours before, got wrong or refused: `test_c_kinds.py` compares each
 * function with what a compiler makes of it. */
#include <stdbool.h>
#include <stddef.h>

void red_black(float A[10][10]) {
    for (int c = 0; c < 2; c++)
        for (int i = 1; i < 9; i++)
            for (int j = 1; j < 9; j++)
                if ((i + j + c) % 2 == 0)
                    A[i][j] = 0.25f * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
}

void odd_else(int A[20], int B[20]) {
    for (int i = 0; i < 20; i++)
        if (i % 2)
            A[i] = i;
        else if (i % 3 == 1)
            B[i] = A[i];
        else {
            A[i] += B[i];
            for (int j = 0; j < 2; j++)
                B[j] += i;
        }
}

void halves(int A[8], int B[16]) {
    for (int i = 0; i < 16; i++)
        A[i / 2] += B[i];
}

void mod_sub(int A[4], int B[30]) {
    for (int i = 0; i < 30; i++)
        A[i % 4] += B[i];
}

void mod_big(int A[40], int B[100]) {
    for (int i = 0; i < 100; i++)
        A[(i * 7) % 40] += B[i];
}

void ifdata(int A[8], int B[8], int t) {
    for (int i = 0; i < 8; i++) {
        if (A[i] > t)
            B[i] = A[i];
        else if (B[i] < 0) {
            A[i] = 0;
            B[i] = -1;
        }
    }
}

void ifdata_self(int A[8], int B[8]) {
    for (int i = 0; i < 8; i++)
        if (A[i] > 0) {
            A[i] = -A[i];
            B[i] += A[i];
        }
}

void both(int A[8], int B[8]) {
    for (int i = 0; i < 8; i++) {
        int v;
        if (A[i] > 0)
            v = 1;
        else {
            v = 2;
            if (B[i])
                v = B[i];
        }
        B[i] = v;
    }
}

void both_arr(int A[8], int B[8]) {
    int t[8];
    if (A[0] > 0)
        for (int i = 0; i < 8; i++)
            t[i] = A[i];
    else
        for (int i = 7; i >= 0; i--)
            t[i] = B[i];
    for (int i = 0; i < 8; i++)
        B[i] = t[i];
}

int largest(int A[8]) {
    int m = A[0];
    for (int i = 1; i < 8; i++)
        if (A[i] > m)
            m = A[i];
    return m;
}

void hist(int A[8], int n) {
    for (int i = 0; i < 8; i++) {
        if (n > 3 && A[i] > 0)
            A[i]++;
        if (i > 2 && A[i - 1] > 2 || i == 0)
            A[i]--;
    }
}

static int clip(int x) {
    if (x > 100)
        return 100;
    if (x < -100) {
        return -100;
    }
    return x;
}
void early(int A[8]) {
    for (int i = 0; i < 8; i++)
        A[i] = clip(A[i] * 3);
}

int ret_if(int a, int b) {
    if (a > b)
        return a;
    else
        return b - 1;
}

static void add(int n_, int *p, const int q[4]) {
    for (int i = 0; i < 4; i++)
        p[i] += q[i] * n_;
}
static int sq(int x) {
    x = x * x;
    return x + 1;
}
void calls(int A[3][4], int B[4]) {
    for (int r = 0; r < 3; r++)
        add(r, A[r], B);
    B[0] = sq(B[1]) + sq(3);
}

int G[4];
static const int T[4] = {1, [2] = 5};
int state;
void globals(int A[4]) {
    for (int i = 0; i < 4; i++) {
        A[i] += G[i] * T[i];
        G[i] = A[i];
    }
    state++;
}

void bools(bool a[8], int B[8]) {
    bool any = false;
    for (int i = 0; i < 8; i++) {
        a[i] = B[i] > 3;
        any = any || a[i];
        a[i] = B[i];
    }
    B[0] = any + a[1];
}

void chars(char a[8], unsigned char b[8], long c[8], unsigned long long d[2]) {
    for (int i = 0; i < 8; i++) {
        a[i] += b[i];
        c[i] = c[i] * a[i] - b[i];
        d[i & 1] += a[i];
    }
}

void wide_counter(float A[8]) {
    for (size_t i = 0; i < 8; i++)
        A[i] = A[i] * 2 + i;
}

void steps(int A[20]) {
    int i;
    for (i = 1; i < 20; i += 3)
        A[i] = i;
    A[0] = i;
    for (i = 19; i >= 0; i -= 4)
        A[i]++;
    A[1] = i;
}

void chain(int A[4], char c[1]) {
    int a, b;
    a = b = c[0] = A[0] + 300;
    A[1] = a;
    A[2] = b;
}

void nested_last(int A[10]) {
    int i, j;
    for (i = 0; i < 3; i++) {
        for (j = i; j < 5; j++)
            A[j] += 1;
        A[j] += i;
    }
    A[9] = i + j;
}

void last_if(int A[10]) {
    int j = 7;
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            for (j = 0; j < i; j++)
                A[j]++;
        A[i] += j;
    }
    A[9] = j;
}

void icol(int A[24], int B[24]) {
    for (int i = 0; i < 4; i++) {
        int r = i * 6;
        for (int j = 0; j < 6; j++) {
            int k = r + j;
            B[k] = A[k] * r;
        }
    }
}

void ucwrap(int C[12]) {
    for (unsigned char k = 250; k != 4; k++)
        C[(unsigned char)(k - 250)] += k;
}

void unsigneds(int A[10]) {
    for (unsigned i = 2; i - 3 < 4; i++)
        A[i] = 2;
    for (unsigned i = 9; i < 10; i--)
        A[i] += i;
    for (unsigned i = 0; i < 10; i++)
        if (i - 5 < 3)
            A[i] *= 3;
}

void never(int A[4], int B[4]) {
    for (int i = 4; i < 4; i++)
        A[i] += 1;
    for (int i = 0; i < 4; i++) {
        B[i] = (i > 0 && A[i - 1] > 3) ? 1 : A[i];
        for (int j = 2; j < i; j++)
            A[j + 1] *= 5;
        if (i > 4 || (i == 3 && A[i] < 0))
            A[i]--;
    }
}

void casts(int A[300]) {
    for (int i = 0; i < 300; i++) {
        A[i] = 0;
        if ((unsigned char)i < 10)
            A[i] = 1;
        if ((signed char)(i * 2) < 0)
            A[i] += 2;
        A[(unsigned char)i] += 4;
    }
}

void short_iter(int A[10]) {
    for (short s = 32766; s > 0; s++)
        A[s - 32766] += s;
}

void mul_wrap(int C[10]) {
    for (int i = 0; i < 10; i++) {
        if (i * 65536u * 65536u > 0 || i * 1000000000u < 5u)
            C[i] = 1;
        if (i * 500000000u > 3000000000u)
            C[i] += 2;
    }
}

void float_lit(float A[2], double B[2]) {
    A[0] = 1.00000005960464477539062500000001f;
    A[1] = 1.00000005960464477539062500000001;
    B[0] = 0.1f;
    B[1] = 0.1;
}

void partial(int A[8]) {
    int z[8] = {3, [5] = 2};
    const short q[2][3] = {{1}, {[1] = 4}};
    for (int i = 0; i < 8; i++) {
        z[i] += A[i];
        A[i] = z[i] + q[i & 1][i % 3];
    }
}

void param(int n, float x, float A[8]) {
    n = n * 2;
    x += 1;
    for (int i = 0; i < 8; i++)
        A[i] = n * x;
}

enum { N = 4, M = N * 2 };
typedef enum { RED, GREEN = 3 } col;
typedef short px;
void enums(px A[M], col c) {
    const int half = M / 2;
    static const int off = 1;
    for (int i = 0; i < half; i++)
        A[i + off] = c == GREEN ? i : -i;
}

void tern(int A[10], int B[10]) {
    for (int i = 0; i < 10; i++)
        B[i] = (i > 0 ? A[i - 1] : 0) + (i < 9 ? A[i + 1] : A[0]) * (A[i] > 0 ? 2 : 3);
}

#define MIN(a, b) ((a) < (b) ? (a) : (b))
void minmax(int A[30]) {
    for (int ii = 0; ii < 30; ii += 8)
        for (int i = ii; i < MIN(ii + 8, 30); i++)
            A[i] += ii;
}

void cond_and_loop(int A[30]) {
    for (int i = 0; i < 30 && i != 17; i++)
        A[i] += 1;
}

void comma(int A[8]) {
    int a = 1, b;
    for (int i = 0; i < 4; i++)
        a = A[i], b = a + 1, A[i + 4] = b;
}

void deref(int A[4]) {
    *A = 3;
    A[1] = *A + 1;
}

void neg_mod(int A[10]) {
    for (int i = -5; i < 5; i++)
        A[i + 5] = i % 3 + i / 2 * 10 + (i >> 1) * 100 + (i & 3) * 1000;
    for (int i = -5; i < 5; i++)
        if (i % 3 == -1)
            A[i + 5] = 0;
}

void unused_var(int A[4]) {
    int u;
    int v = 3;
    for (int i = 0; i < 4; i++)
        A[i] = i;
}

void nestedflag(int A[8], int B[8]) {
    for (int i = 0; i < 8; i++) {
        if (A[i] > 0) {
            if (B[i] > 0) {
                A[i] = 0;
                B[i] = 2;
            } else
                A[i] = -5;
            B[i] += A[i];
        }
    }
}

void guardloop(int A[8], int B[4]) {
    for (int i = 0; i < 8; i++)
        if (A[i] > 3)
            for (int j = 0; j < 4; j++) {
                B[j] += A[i];
                if (j % 2)
                    A[i] -= 1;
            }
}

#define LOOP(i, n) for (int i = 0; i < n; i++)
void label_macro(int A[4]) {
#pragma HLS pipeline
outer:
    LOOP(i, 4) { _Pragma("unroll") LOOP(j, 2) A[i] += j; }
}

void ull(unsigned long long A[4], long long B[4]) {
    for (int i = 0; i < 4; i++) {
        A[i] = A[i] * 0x9E3779B97F4A7C15ull + i;
        B[i] = A[i] / 7 - (long long)(A[i] % 5) * B[i];
    }
}

void boolarith(int A[8], unsigned char B[8]) {
    for (int i = 0; i < 8; i++) {
        A[i] = (A[i] > B[i]) + (!A[i]) * 2 - (A[i] && B[i]);
        B[i] = -(B[i] > 3) & 7;
    }
}

void char_lit(char A[4]) {
    for (int i = 0; i < 4; i++)
        A[i] = 'a' + i;
}

void sizes(int A[4]) {
    for (unsigned i = 0; i < sizeof(int) * 4 / sizeof A[0]; i++)
        A[i] = sizeof(short);
}

void noinit(int A[6]) {
    int i = 2;
    for (; i < 6; i++)
        A[i] = 1;
    A[0] = i;
}

int g(int a) {
    int r = 0;
    for (int i = 0; i < 3; i++)
        r += a * i;
    return r;
}
void nested_fn_if(int A[4]) {
    for (int i = 0; i < 4; i++)
        if (A[i] > 0)
            A[i] = g(A[i]);
}

static int total = 3;
static short history[2][2] = {{1}};
int next(void) {
    static int number = 7;
    return number = number * 5;
}
void kept(int A[4], bool b[2]) {
    static bool odd = true, first;
    static float mean = 0.5f;
    for (int i = 0; i < 4; i++) {
        total += A[i];
        A[i] = total + history[i & 1][i / 2];
        history[i & 1][0]++;
        mean = (mean + A[i]) / 2;
    }
    A[0] = next();
    A[2] = next();
    A[1] = mean;
    b[0] = odd;
    b[1] = first;
    odd = !odd;
    first = odd;
}

int position;
void last_of_the_file(int A[8]) {
    for (position = 0; position < 5; position++)
        A[position] = 1;
    A[position] = 2;
}

void form_of_the_file(int A[8]) {
    position = 3;
    A[position] = 2;
}

void down(int A[10], int B[10], unsigned char C[10]) {
    for (unsigned i = 10; i-- > 0;)
        A[i] += i;
    int k = 7;
    for (; k--;)
        B[k] += k;
    B[9] = k;
    for (unsigned char j = 5; j-- > 0;)
        C[j] = j;
    for (int j = 0; j++ < 9;)
        C[j] += 2;
}

void quotients(int A[12], int B[12]) {
    for (int i = 0; i < 12; i++) {
        A[i / 2 + (i > 4 ? 1 : 0)] += B[i / 2] * (i < 6 || i % 3 == 1 ? B[i / 3] : i);
        B[i % 5] = (i & 3) > 1 ? A[i / 3] : A[i % 7] + (i % 2 ? B[i / 4] : 3);
        if (A[i / 2] > B[i % 3]) {
            int v = i % 5;
            A[i / 3] = v;
            for (int j = 0; j < i % 3; j++)
                B[j] += A[i / 2];
            A[i % 4]++;
        } else
            A[i / 3] = B[i % 5];
    }
}

static int both_ways(int x, int k) {
    if (k % 3 == 0)
        return x + k;
    int t = x * 2;
    return t - k;
}
void calls_under_quotients(int A[12], int B[12]) {
    for (int i = 0; i < 12; i++)
        if (i % 2)
            A[i / 2] = both_ways(B[i % 5], i / 2);
}

void initialised(int A[8], bool B[3]) {
    static const bool table[3] = {3, 0.25, 0};
    bool b = 3, c = 0.25f, d[3] = {7, 0.0, 1e-9};
    for (int i = 0; i < 3; i++) {
        bool e = i * 2;
        A[i] += table[i] + e;
        B[i] = d[i] = d[i] ? c : 2;
    }
    b = A[4];
    A[5] = b + (bool)256 + (unsigned char)255.9 + (int)-0.9f;
}

void halves_of_equal_forms(int A[8], int B[8]) {
    for (int i = 0; i < 7; i++)
        for (int k = 1; k < 7; k++)
            if (k == i % 3)
                A[k] *= B[(i + 4) % 8];
    for (int i = 7; i-- > 2;)
        for (int k = 1; k < 7; k++)
            A[k] += k == i % 3u ? B[(i + 4) % 8u] : B[i / 2];
}

void wraps_of_two_widths(int A[16], unsigned n) {
    for (unsigned long long i = 3; (unsigned short)i - i < ~255 + (unsigned short)i && i < 9; i += 3)
        A[i] += 1;
    for (unsigned k = 15; k < 16 && (unsigned char)k + 1 != 300; k -= 3)
        A[k] += n;
}
