import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Warnings } from './warnings.ts'

/** The format's names for a canonical field, with `.` before members; the first of several that are given counts. */
export type Synonyms = Readonly<Record<string, readonly string[]>>

/** Remembers which names the client has used, for warnings. */
export function noteNames(body: JsonObject, synonyms: Synonyms, warnings: Warnings): void {
  for (const [field, names] of Object.entries(synonyms)) {
    const name = names.find((path) => valueAt(body, path) !== undefined)
    if (name !== undefined) warnings.said(field, name)
  }
}

const valueAt = (body: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => (isObject(value) ? (value[name] ?? undefined) : undefined), body)
