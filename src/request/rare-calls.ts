/* Code that few requests need. It is one module, which loads with the first of them. */
export { hedged } from './attempt/hedged.ts'
export { errorWithAttempts, failureReply } from './reply/failure-reply.ts'
