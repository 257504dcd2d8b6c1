/* The readers for provider errors. They are loaded together. */
export { readEmbeddedError, readErrorFromOtherFields as readUnnamedError } from './embedded-errors.ts'
export { getErrorMeaning, isModelSpecific, readErrorResponse } from './error-kinds.ts'
