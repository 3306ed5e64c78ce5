"""Small programs and their accelerators."""

from axiloom.nest.accelerator import Accelerator, accelerator
from axiloom.nests.program import Program
from axiloom.nests.read import c
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay

PRODUCT = """
void product(int A[N][N], int x[N], int y[N])
{
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
  }
}
"""

STENCIL = """
void stencil(float A[N], float B[N])
{
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < N - 1; i++)
      B[i] = 0.5f * (A[i - 1] + A[i + 1]);
    for (int k = 1; k < N - 1; k++)
      A[k] = 0.5f * (B[k - 1] + B[k + 1]);
  }
}
"""


def program(text: str, n: int) -> Program:
    return c.parse(text, "small.c", defines={"N": str(n)}).program


def made(text: str, n: int, schedule: str = "", width: int = 32) -> tuple[Program, Schedule, Accelerator]:
    found = program(text, n)
    by = replay(found, schedule, "small.sched") if schedule else Schedule.of(found)
    return found, by, accelerator(by, width)
