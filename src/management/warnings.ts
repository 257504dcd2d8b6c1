/** The answer to a change that holds, with what keeps it from working yet as plain sentences. */
export interface Warned {
  /** Absent when there are none. */
  warnings?: string[]
}

/** The answer with its warnings, if there are any. */
export const withWarnings = <T extends object>(answer: T, warnings: readonly string[]): T & Warned =>
  warnings.length > 0 ? { ...answer, warnings: [...warnings] } : answer
