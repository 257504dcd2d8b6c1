import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusalHeaders } from '../lib/refusal.ts'
import { sendWhole } from './whole-reply.ts'

/** Responds to a request that doesn't reach the gateway, formatted like the gateway's errors. */
export function refuse(req: IncomingMessage, res: ServerResponse, status: number, error: string): void {
  if (!res.headersSent && !res.writableEnded)
    sendWhole(req, res, { status, headers: refusalHeaders, body: JSON.stringify({ error }) })
}
