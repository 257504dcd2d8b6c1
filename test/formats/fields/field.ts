import type { JsonObject } from '../../../src/lib/json.ts'

/** A field of a client's request, by its path as the client writes it, and the request with it and (unless it is only the least one) without. */
export type Field = [path: string, body: JsonObject, without?: JsonObject]

export const PNG = 'iVBORw0KGgo='
export const PDF = 'JVBERi0xLjQK'

export const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
