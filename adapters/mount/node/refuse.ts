import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendWhole } from './whole.ts'

const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** Answers what never reaches the gateway, in the shape of its other errors. */
export function refuse(req: IncomingMessage, res: ServerResponse, status: number, error: string): void {
  if (!res.headersSent && !res.writableEnded) sendWhole(req, res, { status, headers, body: JSON.stringify({ error }) })
}
