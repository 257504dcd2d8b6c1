import { json } from './upstream.ts'

/** Creates an upstream that returns an OpenAI error. */
export const fault =
  (status: number, message: string, headers = {}) =>
  () =>
    json({ error: { message } }, status, headers)
