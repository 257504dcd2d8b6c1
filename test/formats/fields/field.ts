import type { JsonObject } from '../../../src/lib/json.ts'

/**
 * A field of a client's request: its path as the client spells it, the request with the field, and (unless that is the minimal request) the request
 * without it.
 */
export type Field = [path: string, body: JsonObject, without?: JsonObject]

export const PNG = 'iVBORw0KGgo='
export const PDF = 'JVBERi0xLjQK'

export const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
