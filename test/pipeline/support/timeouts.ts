import type { ErrorAnswer } from './responses.ts'

/** Timeouts that all differ, so tests can tell them apart. */
export const limits = { headersTimeoutMs: 1_000, idleTimeoutMs: 200, totalTimeoutMs: 3_000 }

/** Returns `<status> <message>` for an error response. */
export const getText = async (response: Response | undefined) => {
  const { error }: ErrorAnswer = JSON.parse((await response?.text()) ?? '')
  return `${response?.status} ${error.message}`
}
