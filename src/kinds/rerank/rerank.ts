import type { JsonObject } from '../../lib/json.ts'
import type { Used } from '../forms.ts'

/** A document to be ranked: a text, or an object of which some members are the text. */
export type RankedDocument = string | JsonObject

/** A request for a ranking, of whichever form. */
export interface RerankRequest {
  query: string
  /** At least one. */
  documents: readonly RankedDocument[]
  /** How many results are wanted: from 1 to the number of documents. */
  topN: number
  /** Are the documents to be in the answer? Default: no. */
  returnsDocuments?: boolean | undefined
  /** Is the answer to be in Voyage's shape? */
  isVoyages: boolean
  /** The members of a document that are an object's text, in this order. */
  rankFields?: readonly string[] | undefined
  /** All other members of the body, by the client's names. */
  options: JsonObject
}

/** An answer of whichever form. */
export interface Ranking extends Used {
  /** The provider's id of the answer. */
  id?: string | undefined
  /** The best first. */
  results: readonly RankedResult[]
}

export interface RankedResult {
  /** Of the document in the request. */
  index: number
  /** As the provider has it: higher is better, and scores of two models do not compare. */
  score: number
}

/**
 * The text of a document. Of an object these are the members `fields`, by default its `text`, or else all members: each on a line as
 * `title: Peru`, or one alone without its name. An empty text is a space, since some vendors refuse all documents for an empty one.
 */
export function textOf(document: RankedDocument, fields?: readonly string[]): string {
  const text = typeof document === 'string' ? document : textOfObject(document, fields)
  return text === '' ? ' ' : text
}

function textOfObject(document: JsonObject, fields?: readonly string[]): string {
  if (!fields && typeof document.text === 'string') return document.text
  const names = fields?.filter((name) => Object.hasOwn(document, name)) ?? Object.keys(document)
  const [name = ''] = names
  if (names.length === 1 && typeof document[name] === 'string') return document[name]
  return names.flatMap((name) => linesOf(name, document[name])).join('\n')
}

/** The lines of a member, each with the path to its value. */
function linesOf(path: string, value: unknown): string[] {
  if ((value ?? null) === null) return []
  if (typeof value !== 'object') return [`${path}: ${value}`]
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return [`${path}: ${value.join(', ')}`]
  return Object.entries(value as object).flatMap(([name, inner]) => linesOf(`${path}.${name}`, inner)) // it is no null
}

/** The image of a document that is an image, beside a text or without. */
export function imageOf(document: RankedDocument): string | undefined {
  if (typeof document === 'string' || typeof document.image !== 'string') return undefined
  return Object.keys(document).every((name) => name === 'text' || name === 'image') ? document.image : undefined
}
