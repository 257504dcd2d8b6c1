import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { replaceSpans, scanTopLevel } from '../lib/json-scan.ts'

/** A JSON body that names another model; every other character stays. */
export function withModel(body: string | Uint8Array, model: string): string {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  return replaceSpans(text, scanTopLevel(text, ['model']).spans, JSON.stringify(model))
}
