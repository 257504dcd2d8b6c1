import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendWhole } from './whole.ts'

const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** Answers a request that does not reach the gateway, in the form of the gateway's errors. */
export function refuse(req: IncomingMessage, res: ServerResponse, status: number, error: string): void {
  if (!res.headersSent && !res.writableEnded) sendWhole(req, res, { status, headers, body: JSON.stringify({ error }) })
}
