import type { FailureReading } from '../format.ts'
import { readError } from './error.ts'

export const converseFailures: FailureReading = {
  read: readError,
  bodyOf: (error) => error,
  isBlank: () => false, // such answers are on record as good ones
}
