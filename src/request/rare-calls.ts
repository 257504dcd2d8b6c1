/* Code that few requests need, in one module that loads with the first of them. */
export { runHedged } from './attempt/run-hedged.ts'
export { addAttempts, createFailureReply } from './reply/failure-reply.ts'
