import { isObject, type JsonObject } from '../../lib/json.ts'
import { setMember } from '../../lib/json-edit.ts'
import { isReference } from '../../protocols/formats/openai-responses/responses-references.ts'
import type { ModelRequest } from '../../request/model-request.ts'

/**
 * Replaces references to items from earlier responses with the items themselves, so guards can read them. The provider would get the items anyway.
 */
export function expandItems({ call, owner, context }: Pick<ModelRequest, 'call' | 'owner' | 'context'>): {
  text: string
  body: JsonObject
} {
  const { text, body, endpoint } = call
  const knownIds = new Set(endpoint.getReferences?.(call).filter((id) => context.items.has(owner, id)))
  if (knownIds.size === 0 || !Array.isArray(body.input)) return { text, body }
  const input: unknown[] = body.input.map((item: unknown) =>
    isObject(item) && typeof item.id === 'string' && knownIds.has(item.id) && isReference(item)
      ? (context.items.find(owner, item.id) ?? item)
      : item,
  )
  return { text: setMember(text, 'input', () => JSON.stringify(input)), body: { ...body, input } }
}

/** Replaces the gateway's stored items with those that the client receives, because a guard may have changed or rejected their text. */
export function replaceItems(
  { owner, context: { items } }: Pick<ModelRequest, 'owner' | 'context'>,
  response: unknown,
) {
  const output = isObject(response) && Array.isArray(response.output) ? response.output : []
  for (const item of output)
    if (isObject(item) && typeof item.id === 'string' && items.has(owner, item.id))
      items.store(owner, item.id, JSON.stringify(item))
}
