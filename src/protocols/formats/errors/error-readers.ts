/* The readers for provider errors. They are loaded together. */
export { readEmbeddedError, readUnnamedError } from './embedded-errors.ts'
export { getErrorMeaning, isModelFault, readErrorResponse } from './error-kinds.ts'
