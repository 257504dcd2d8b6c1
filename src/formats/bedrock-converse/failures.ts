import type { FailureReading } from '../format.ts'
import { readError } from './error.ts'

export const converseFailures: FailureReading = {
  read: readError,
  bodyOf: (error) => error,
  saysNoCounter: (body) => NO_COUNTER.test(readError(body).message ?? ''),
  isBlank: () => false, // such answers are on record as good ones
}

/**
 * Only some models are counted for, only under their own ids, and only for who may do that. None of it says anything about the request, nor
 * about answers of the model, which may be reached by a profile alone.
 */
const NO_COUNTER =
  /support counting tokens|\bbedrock:CountTokens\b|\bprovided model identifier\b|\bwith on-demand throughput\b/i
