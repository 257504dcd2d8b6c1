import type { IncomingMessage, ServerResponse } from 'node:http'
import { rejectionHeaders } from '../lib/rejection.ts'
import { sendBuffered } from './buffered-reply.ts'

/** Responds to a request that doesn't reach the gateway, formatted like the gateway's errors. */
export function rejectRequest(req: IncomingMessage, res: ServerResponse, status: number, error: string): void {
  if (!res.headersSent && !res.writableEnded)
    sendBuffered(req, res, { status, headers: rejectionHeaders, body: JSON.stringify({ error }) })
}
