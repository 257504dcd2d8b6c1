import { isObject } from '../../lib/json.ts'
import type { WireFormat } from '../../types.ts'
import type { CanonicalRequest } from './request.ts'

/** The body with the members that the request has for this format alone. Those of an inner object stand beside the others that it has. */
export function withOwn<Body extends object>(body: Body, { own }: CanonicalRequest, format: WireFormat): Body {
  if (own?.format !== format) return body
  const written = new Map<string, unknown>(Object.entries(body))
  const members = Object.entries(own.value).map(([name, value]) => {
    const other = written.get(name)
    return [name, isObject(value) && isObject(other) ? { ...other, ...value } : value]
  })
  return { ...body, ...Object.fromEntries(members) }
}
