import { readStream } from './streams.ts'

/** Reads a stream of these events with `readStream`. */
export const read = (...events: (object | '[DONE]')[]) =>
  readStream(events.map((event) => `data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`).join(''))

const usage = { input_tokens: 3, output_tokens: 4 }

/** The event that begins a response. */
export const created = {
  type: 'response.created',
  response: { id: 'resp_1', model: 'm-1', status: 'in_progress', output: [] },
}

/** Creates the event that ends a response, with the response's entire output. */
export const createCompleted = (...output: object[]) => ({
  type: 'response.completed',
  response: { status: 'completed', output, usage },
})
