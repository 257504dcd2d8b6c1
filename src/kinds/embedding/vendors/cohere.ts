import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorContext, VendorForm } from '../../forms.ts'
import {
  type Embed,
  type Embedded,
  type Input,
  noteLostTitles,
  taskWord,
  textsOf,
  usageOf,
  vectorsIn,
} from '../embedding.ts'

/** https://docs.cohere.com/reference/embed */
export const cohere: VendorForm<Embed, Embedded> = {
  name: 'cohere',
  providers: ['cohere'],
  base: (baseUrl) =>
    baseUrl.replace(/(?:\/compatibility)?\/v\d+$/, '').replace(/^https:\/\/api\.cohere\.ai$/, 'https://api.cohere.com'),
  most: () => 96,
  passes: [{ client: 'cohere', path: () => PATH, lists: ['texts', 'images', 'inputs'] }],
  request: (asked, context) => ({ path: PATH, body: { model: context.target.model, ...cohereBody(asked, context) } }),
  answer: cohereAnswer,
}

const PATH = '/v2/embed'

/** A request without the model's name, which stands elsewhere at AWS. Its models need a task. */
export function cohereBody(asked: Embed, { warnings }: VendorContext): JsonObject {
  const { dimensions, truncation, types, user, inputs } = asked
  noteLostTitles(asked, warnings)
  if (user !== undefined) warnings.noteDropped('user')
  const task = taskWord(asked, TASKS, warnings)
  if (task === undefined) warnings.noteChanged('task', 'added')
  return {
    ...(inputs.some(hasImage) ? { inputs: inputs.map(contentOf) } : { texts: textsOf(asked, warnings) }),
    input_type: task ?? TASKS.document,
    embedding_types: types ?? ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
    ...(truncation && { truncate: truncation.toUpperCase() }),
  }
}

const TASKS = {
  query: 'search_query',
  document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
}

const hasImage = ({ parts = [] }: Input) => parts.some((part) => 'image' in part)

const contentOf = ({ text = '', parts = [{ text }] }: Input) => ({
  content: parts.map((part) =>
    'text' in part ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.image } },
  ),
})

/** The vectors of an answer, by their types or as one list of floats. */
export function cohereAnswer({ embeddings, id, meta }: JsonObject, asked: Embed): Embedded | string {
  const byType = isObject(embeddings) ? embeddings : { float: embeddings }
  const lists = Object.entries(byType).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const complete = lists.filter(([, list]) => list.length === asked.inputs.length)
  const floats = byType.float ?? byType.base64
  const vectors = floats === undefined && complete.length > 0 ? [] : vectorsIn(floats, asked, (item) => item)
  if (typeof vectors === 'string') return vectors
  if (complete.length < lists.length) return 'an embedding for each input'
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  const { input_tokens: tokens, image_tokens: ofImages = 0 } = billed
  return {
    vectors,
    byType: Object.fromEntries(lists),
    ...(typeof id === 'string' && { id }),
    ...usageOf(typeof tokens === 'number' && typeof ofImages === 'number' ? tokens + ofImages : tokens),
  }
}
