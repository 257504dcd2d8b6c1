import { isObject, type JsonObject } from '../../../lib/json.ts'

/** Returns whether an input item refers to an earlier response's item. OpenAI also accepts a reference without a type: `{ "id": "msg_1" }`. */
export const isReference = ({ type, id, role, content }: JsonObject): boolean =>
  type === 'item_reference' ||
  ((type === undefined || type === null) && role === undefined && content === undefined && typeof id === 'string')

/** Lists the IDs of the items that the input refers to. */
export const listReferences = (input: unknown): string[] =>
  Array.isArray(input)
    ? input.flatMap((item: unknown) =>
        isObject(item) && isReference(item) && typeof item.id === 'string' ? [item.id] : [],
      )
    : []
