import type { JsonObject } from '../../../src/lib/json.ts'

/** A field of a client's request: its path in the client's spelling, and the request with it and (unless it is only the minimal one) without it. */
export type Field = [path: string, body: JsonObject, without?: JsonObject]

export const PNG = 'iVBORw0KGgo='
export const PDF = 'JVBERi0xLjQK'

export const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
