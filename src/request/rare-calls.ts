/* Code that few requests need. It is one module, which loads with the first of them. */
export { runHedged as hedged } from './attempt/hedged.ts'
export { addAttempts as errorWithAttempts, failureReply } from './reply/failure-reply.ts'
