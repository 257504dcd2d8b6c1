import { countMaxTokens } from '../../../lib/text-tokens.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { KindResponse, RequestSplitter } from '../kind-adapters.ts'
import { getDimensions, isVector, type Vector } from './vectors.ts'

/** The purpose of the vectors. Some models return better vectors if they know the task. */
export type EmbeddingTask =
  | 'query'
  | 'document'
  | 'similarity'
  | 'classification'
  | 'clustering'
  | 'question'
  | 'fact'
  | 'code'

/** How to truncate a string that is too long. With `none`, it is rejected. */
export type Truncation = 'none' | 'start' | 'end'

/** One input to embed, with exactly one of its first three fields. */
export interface EmbeddingInput {
  text?: string
  /** Tokens from OpenAI's tokenizer. */
  tokens?: readonly number[]
  /** Strings and images that share one vector. */
  parts?: readonly InputPart[]
  /** Overrides the request's task. */
  task?: EmbeddingTask
  title?: string
}

/** A string, or an image as a URL or a data URL. */
export type InputPart = { text: string } | { image: string }

/** An embedding request, independent of the client's format. */
export interface EmbeddingRequest {
  inputs: readonly EmbeddingInput[]
  task?: EmbeddingTask
  /** A vendor-specific task name. */
  unknownTask?: string
  /** The vector length. */
  dimensions?: number
  truncation?: Truncation
  /** How to encode vectors for the client. With `raw`, they stay packed as the vendor packs them. */
  encoding: 'float' | 'base64' | 'raw'
  /** The vector types that a Cohere client requests; absent means floats. */
  types?: readonly string[]
  user?: string
}

/** One vector for each input, in order. */
export interface EmbeddingResponse extends KindResponse {
  vectors: readonly Vector[]
  /** Vectors that aren't floats, by type. */
  vectorsByType?: Readonly<Record<string, readonly unknown[]>>
  id?: string
}

/** Splits requests with many inputs. */
export const embeddingSplitter: RequestSplitter<EmbeddingRequest, EmbeddingResponse> = {
  countEntries: ({ inputs }) => inputs.length,
  countTokens: ({ inputs }, entry) => estimateMaxTokens(inputs[entry] ?? {}),
  slice: (request, start, end) => ({ ...request, inputs: request.inputs.slice(start, end) }),
  join(responses) {
    const [first] = responses
    const types = new Set(responses.flatMap(({ vectorsByType = {} }) => Object.keys(vectorsByType)))
    return {
      ...first,
      vectors: responses.flatMap(({ vectors }) => vectors),
      ...(types.size > 0 && {
        vectorsByType: Object.fromEntries(
          Array.from(types, (type) => [type, responses.flatMap(({ vectorsByType = {} }) => vectorsByType[type] ?? [])]),
        ),
      }),
    }
  },
  createCheck() {
    let dimensions: number | undefined
    return ({ vectors: [first] }) => {
      const vectorLength = first === undefined ? undefined : getDimensions(first)
      dimensions ??= vectorLength
      return vectorLength === undefined || vectorLength === dimensions ? undefined : MISSING_EQUAL_LENGTHS
    }
  },
}

/** Parses the requested vector length; `undefined` means the model's default. Rejects an invalid length. */
export function parseDimensions(value: unknown, warnings: Warnings): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value
  return warnings.reject('dimensions', 'must be a whole number above 0')
}

/** Estimates an input's tokens, never below the vendor's count. */
function estimateMaxTokens({ text = '', tokens, parts = [{ text }], title = '' }: EmbeddingInput): number {
  if (tokens) return tokens.length
  return parts.reduce(
    (total, part) => total + ('text' in part ? countMaxTokens(part.text) : TOKENS_PER_IMAGE),
    countMaxTokens(title) + EXTRA_INPUT_TOKENS,
  )
}

/** The tokens in an image, and the tokens that vendors may add to a string, for example for its task. */
const TOKENS_PER_IMAGE = 1_000
const EXTRA_INPUT_TOKENS = 10

/** All vendors' names for each task. */
const TASK_PATTERNS: Readonly<Record<EmbeddingTask, RegExp>> = {
  query: /^(?:(?:search|retrieval)[_.])?query$/i,
  document: /^(?:(?:search|retrieval)[_.])?(?:document|passage)$/i,
  similarity: /^(?:semantic[_-]similarity|text-matching|similarity)$/i,
  classification: /^classification$/i,
  clustering: /^(?:clustering|separation)$/i,
  question: /^question[_-]answering$/i,
  fact: /^fact[_-](?:verification|checking)$/i,
  code: /^code[_.-](?:retrieval[_.-])?query$/i,
}

/** Parses a vendor's name for a task, or returns `undefined` if it is unknown. */
export const parseTask = (name: unknown): EmbeddingTask | undefined =>
  typeof name === 'string'
    ? (Object.keys(TASK_PATTERNS) as EmbeddingTask[]).find((task) => TASK_PATTERNS[task].test(name))
    : undefined // `TASK_PATTERNS` has no other keys

/** The tasks whose queries are matched against documents. */
const RETRIEVAL_TASKS: ReadonlySet<EmbeddingTask> = new Set(['question', 'fact', 'code'])

/**
 * Chooses the vendor's name for the inputs' shared task. If the vendor doesn't support the task, reports that and returns the closest one, or
 * `undefined` if there is none.
 */
export function chooseTaskName(
  request: EmbeddingRequest,
  taskNames: Readonly<Partial<Record<EmbeddingTask, string>>>,
  warnings: Warnings,
): string | undefined {
  const task = getSharedTask(request, warnings)
  if (request.unknownTask !== undefined) warnings.recordDrop('task')
  if (task === undefined || taskNames[task] !== undefined) return task && taskNames[task]
  const nearestName = RETRIEVAL_TASKS.has(task) ? taskNames.query : undefined
  if (nearestName === undefined) warnings.recordDrop('task')
  else warnings.recordChange('task', 'replaced')
  return nearestName
}

/** Returns the task that all inputs share. Rejects inputs with different tasks. */
function getSharedTask({ task, inputs }: EmbeddingRequest, warnings: Warnings): EmbeddingTask | undefined {
  const tasks = new Set(inputs.map((input) => input.task ?? task))
  if (tasks.size > 1) warnings.reject('task', 'the target requires the same value for all inputs of a request')
  return [...tasks][0]
}

/** Reports titles as dropped, for vendors that don't support them. */
export function recordDroppedTitles({ inputs }: EmbeddingRequest, warnings: Warnings): void {
  if (inputs.some(({ title }) => title !== undefined)) warnings.recordDrop('title')
}

/** Returns all inputs as strings, for vendors that only support text. Rejects tokens and images. */
export function getTexts({ inputs }: EmbeddingRequest, warnings: Warnings): string[] {
  return inputs.map(({ text, tokens, parts = [] }) => {
    if (tokens) warnings.reject('input', 'only OpenAI models accept tokens; send the text')
    if (text !== undefined) return text
    return parts
      .map((part) => ('text' in part ? part.text : warnings.reject('input', 'the target does not support images')))
      .join('\n')
  })
}

/** Rejects a truncation mode that the target doesn't support. `defaultMode` is the target's default, and `otherModes` are the other modes that it supports. */
export function requireTruncation(
  { truncation }: EmbeddingRequest,
  { defaultMode, otherModes = [] }: { defaultMode: Truncation; otherModes?: readonly Truncation[] },
  warnings: Warnings,
): void {
  if (truncation === undefined || truncation === defaultMode || otherModes.includes(truncation)) return
  warnings.reject('truncation', TRUNCATION_ERRORS[defaultMode])
}

const TRUNCATION_ERRORS: Readonly<Record<Truncation, string>> = {
  none: 'the target rejects inputs that are too long and cannot truncate them this way',
  start: 'the target can only truncate the beginning of inputs that are too long',
  end: 'the target can only truncate the end of inputs that are too long',
}

/** Rejects vector types that only Cohere supports. */
export function requireFloats({ types = [], encoding }: EmbeddingRequest, warnings: Warnings): void {
  const unsupportedType = types.find((type) => type !== 'float' && type !== 'base64')
  if (unsupportedType !== undefined)
    warnings.reject('types', `the target returns floats and does not support "${unsupportedType}"`)
  if (encoding === 'raw') warnings.reject('encoding', 'the target returns floats and does not support packed numbers')
}

/** Converts a reported token count to usage. Ignores a count that is 0 or invalid, because every vector takes tokens. */
export const toUsage = (tokens: unknown): { usage?: TokenUsage } =>
  readTokenCount(tokens) > 0 ? { usage: { inputTokens: readTokenCount(tokens), outputTokens: 0 } } : {}

/** Reads one vector per input, all of the same length. If anything is missing, returns a description of it. `getVector` returns an item's vector. */
export function readVectors(
  list: unknown,
  { inputs, encoding }: EmbeddingRequest,
  getVector: (item: unknown) => unknown,
): Vector[] | string {
  if (!Array.isArray(list) || list.length !== inputs.length) return MISSING_VECTORS
  const vectors: Vector[] = []
  for (const item of list) {
    const vector = getVector(item)
    if (!isVector(vector, encoding)) return MISSING_VECTORS
    vectors.push(vector)
  }
  return haveSameLength(vectors) ? vectors : MISSING_EQUAL_LENGTHS
}

const haveSameLength = (vectors: readonly Vector[]): boolean => new Set(vectors.map(getDimensions)).size <= 1

const MISSING_VECTORS = 'an embedding for each input'
const MISSING_EQUAL_LENGTHS = 'embeddings of equal length'
