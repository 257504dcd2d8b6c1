/** An error that the user can fix. Its message is one line that explains what to do. */
export interface Problem extends Error {
  readonly name: 'Problem'
  /** 2 for incorrect usage, 1 for everything else. */
  readonly exitCode: 1 | 2
}

/** Creates a problem to throw. The program then ends with its exit code. */
export function createProblem(
  message: string,
  { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {},
): Problem {
  return Object.assign(new Error(message, { cause }), { name: 'Problem' as const, exitCode })
}

/** Returns whether `createProblem` created the error. */
export function isProblem(error: unknown): error is Problem {
  return error instanceof Error && error.name === 'Problem' && 'exitCode' in error
}

/** Returns the code of a system error, such as `ENOENT`, or any other error as a string. */
export const getErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
