/* The code for failed calls, which is lazy-loaded. */

export { emptyResponseFailure, toFailure, unreadableCredentialFailure } from '../codec/call-failure.ts'
export { redactFailure } from '../codec/redact-failure.ts'
