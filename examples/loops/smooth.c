/* An image of 24x40, each pixel with its neighbours: weights 1 2 1, 2 4 2, 1 2 1. */
#define H 24
#define W 40

void smooth(short image[H + 2][W + 2], short out[H][W])
{
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++)
            out[i][j] = image[i][j] + 2 * image[i][j + 1] + image[i][j + 2]
                      + 2 * image[i + 1][j] + 4 * image[i + 1][j + 1] + 2 * image[i + 1][j + 2]
                      + image[i + 2][j] + 2 * image[i + 2][j + 1] + image[i + 2][j + 2];
}
