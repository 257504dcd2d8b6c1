import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Warnings } from './warnings.ts'

/** The names that a format has for a canonical field, `.` between those of objects; what is given by several counts by the first of them. */
export type Synonyms = Readonly<Record<string, readonly string[]>>

/** Takes note of which names the client has used, so that a loss is told under these. */
export function noteNames(body: JsonObject, synonyms: Synonyms, warnings: Warnings): void {
  for (const [field, names] of Object.entries(synonyms)) {
    const name = names.find((path) => valueAt(body, path) !== undefined)
    if (name !== undefined) warnings.said(field, name)
  }
}

const valueAt = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isObject(value) ? (value[name] ?? undefined) : undefined), body)
