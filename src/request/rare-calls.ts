/* What few requests need, in one module that loads with the first of them. */
export { hedged } from './attempt/hedged.ts'
export { errorWithAttempts, failureReply } from './reply/failure-reply.ts'
