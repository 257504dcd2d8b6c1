import type { JsonObject } from '../../../lib/json.ts'
import type { KindResponse } from '../kind-adapters.ts'

/** A document to rank: a string, or an object with text in some of its fields. */
export type RankedDocument = string | JsonObject

/** A rerank request, independent of the client's format. */
export interface RerankRequest {
  query: string
  /** At least one document. */
  documents: readonly RankedDocument[]
  /** The number of results, from 1 to the number of documents. */
  topN: number
  /** Whether the response includes the documents. Default: no. */
  returnsDocuments?: boolean | undefined
  /** Whether the client expects Voyage's response. */
  usesVoyageFormat: boolean
  /** The fields that contain an object's text, in order. */
  rankFields?: readonly string[] | undefined
  /** All other body fields, under the client's names. */
  options: JsonObject
}

/** A rerank response, independent of the vendor's format. */
export interface RerankResponse extends KindResponse {
  /** The provider's response ID. */
  id?: string | undefined
  /** The best results first. */
  results: readonly RankedResult[]
}

export interface RankedResult {
  /** The document's index in the request. */
  index: number
  /** The provider's score. Higher is better. Scores of different models aren't comparable. */
  score: number
}

/**
 * Returns a document's text. For an object, this is the text in `fields`. By default, it is the `text` field, or all fields if there is none. Each
 * field becomes a line such as `title: Peru`; a single field is written without its name. Empty text becomes a space, because some vendors reject
 * requests with an empty document.
 */
export function getText(document: RankedDocument, fields?: readonly string[]): string {
  const text = typeof document === 'string' ? document : joinFields(document, fields)
  return text === '' ? ' ' : text
}

function joinFields(document: JsonObject, fields?: readonly string[]): string {
  if (!fields && typeof document.text === 'string') return document.text
  const names = fields?.filter((name) => Object.hasOwn(document, name)) ?? Object.keys(document)
  const [name = ''] = names
  if (names.length === 1 && typeof document[name] === 'string') return document[name]
  return names.flatMap((name) => writeLines(name, document[name])).join('\n')
}

/** Writes a value as lines, each starting with the value's path. */
function writeLines(path: string, value: unknown): string[] {
  if ((value ?? null) === null) return []
  if (typeof value !== 'object') return [`${path}: ${value}`]
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return [`${path}: ${value.join(', ')}`]
  return Object.entries(value as object).flatMap(([name, inner]) => writeLines(`${path}.${name}`, inner)) // `null` was handled above
}

/** Returns the image from a document that has no fields except `image` and `text`. */
export function getImage(document: RankedDocument): string | undefined {
  if (typeof document === 'string' || typeof document.image !== 'string') return undefined
  return Object.keys(document).every((name) => name === 'text' || name === 'image') ? document.image : undefined
}
