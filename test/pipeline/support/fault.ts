import { json } from './upstream.ts'

/** An upstream that answers with an error of OpenAI. */
export const fault =
  (status: number, message: string, headers = {}) =>
  () =>
    json({ error: { message } }, status, headers)
