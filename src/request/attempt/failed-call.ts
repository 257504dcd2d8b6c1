/* The code for failed calls, which is loaded with the first one. */

export { emptyResponseFailure, toFailure, unreadableCredentialFailure } from '../codec/call-failure.ts'
export { redactFailure } from '../codec/redact-failure.ts'
