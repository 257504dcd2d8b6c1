import { reportedCost } from '../../../formats/canonical/reported-cost.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorContext, VendorForm } from '../../forms.ts'
import { inEncoding } from '../clients/openai.ts'
import {
  type Embed,
  type Embedded,
  noteLostTitles,
  requireFloats,
  requireTruncation,
  type Task,
  type Truncation,
  taskWord,
  textsOf,
  usageOf,
  vectorsIn,
} from '../embedding.ts'
import { isVector } from '../vectors.ts'
import { skimmed } from './skimmed.ts'

/** What a vendor that speaks OpenAI's form calls the options of a request. */
export interface Dialect extends Pick<VendorForm<Embed, Embedded>, 'name' | 'providers' | 'isOf'> {
  /** The most inputs of a request. */
  most?: number
  /** Absent: it has models of one width only. */
  dimensions?: 'dimensions' | 'output_dimension'
  /** Its words for tasks; `otherwise`: what it is told where the client says nothing. */
  task?: { name: 'input_type' | 'task'; words: Readonly<Partial<Record<Task, string>>>; otherwise?: Task }
  /** What it does with texts that are too long, and how it is told otherwise; default: it refuses them. */
  truncation?: { own: Truncation; words: Readonly<Partial<Record<Truncation, JsonObject>>> }
  /** How it is asked for base64; absent: it sends numbers only. */
  base64?: JsonObject
  takesUser?: true
  /** Does it take tokens in place of texts? */
  takesTokens?: true
  /**
   * Are the options of requests in OpenAI's form left as the client has written them? `plain`: unless they are among those that OpenAI does not
   * have. Default: they are written in the words of the vendor.
   */
  keeps?: 'all' | 'plain'
}

/** The form of a vendor that speaks OpenAI's, with words of its own for some options. */
export function openaiShaped(dialect: Dialect): VendorForm<Embed, Embedded> {
  const { name, providers, isOf, most, base64, takesTokens } = dialect
  const inputsFor = (asked: Embed, { warnings }: VendorContext) =>
    takesTokens && asked.inputs.every(({ tokens, text }) => tokens ?? text !== undefined)
      ? asked.inputs.map(({ tokens, text }) => tokens ?? text)
      : textsOf(asked, warnings)
  return {
    name,
    ...(providers && { providers }),
    ...(isOf && { isOf }),
    ...(most !== undefined && { most: () => most }),
    passes: [
      {
        client: 'openai',
        path: () => PATH,
        lists: ['input'],
        without(asked, context) {
          if (keepsWords(dialect, context))
            return [...(base64 ? [] : ENCODINGS), ...(isOtherWidth(dialect, context) ? [VOYAGES_WIDTH] : [])]
          return asked.encoding === 'raw' ? OPTIONS : [...OPTIONS, ...ENCODINGS]
        },
        added(asked, context) {
          if (!keepsWords(dialect, context)) return optionsFor(dialect, asked, context)
          return isOtherWidth(dialect, context) ? { dimensions: asked.dimensions } : {}
        },
        isOpen: ({ inputs }) => takesTokens || !inputs.some(({ tokens }) => tokens),
        skim: (text, { encoding }) => (encoding === 'float' ? skimmed(text) : undefined),
        rewritten,
      },
    ],
    request(asked, context) {
      const { target, warnings } = context
      requireFloats(asked, warnings)
      noteLostTitles(asked, warnings)
      const options = optionsFor(dialect, asked, context)
      return { path: PATH, body: { model: target.model, input: inputsFor(asked, context), ...options } }
    },
    answer: openaiAnswer,
  }
}

const PATH = '/embeddings'

/** The members of a request that vendors have different words for. */
const OPTIONS = ['dimensions', 'output_dimension', 'input_type', 'task', 'truncate', 'truncation', 'user']
const ENCODINGS = ['encoding_format']

/** Those that OpenAI does not have. */
const FOREIGN = ['output_dimension', 'input_type', 'task', 'truncate', 'truncation']

const VOYAGES_WIDTH = 'output_dimension'

/** Does a request say the width in Voyage's word, which other servers do not know? */
const isOtherWidth = ({ dimensions }: Dialect, { body }: VendorContext): boolean =>
  dimensions === 'dimensions' && (body[VOYAGES_WIDTH] ?? null) !== null

const keepsWords = ({ keeps }: Dialect, { body }: VendorContext): boolean =>
  keeps === 'all' || (keeps === 'plain' && !FOREIGN.some((name) => Object.hasOwn(body, name)))

function optionsFor(dialect: Dialect, asked: Embed, { warnings }: VendorContext): JsonObject {
  const { dimensions, encoding, truncation, user } = asked
  const { task, base64 = {}, takesUser, truncation: cut = { own: 'none', words: {} } } = dialect
  const options: JsonObject = {}
  if (dimensions !== undefined) {
    if (!dialect.dimensions) return warnings.refuse('dimensions', 'this target has vectors of one width only')
    options[dialect.dimensions] = dimensions
  }
  const word = taskWord(asked, task?.words ?? {}, warnings) ?? (task?.otherwise && task.words[task.otherwise])
  if (task && word !== undefined) options[task.name] = word
  const others = Object.keys(cut.words) as Truncation[] // the record has no other keys
  requireTruncation(asked, { own: cut.own, others }, warnings)
  if (truncation) Object.assign(options, cut.words[truncation])
  if (encoding === 'base64') Object.assign(options, base64)
  if (user !== undefined) {
    if (takesUser) options.user = user
    else warnings.noteDropped('user')
  }
  return options
}

/** The vectors of an answer in OpenAI's form, in the order of the inputs. */
function openaiAnswer({ data, model, usage, id }: JsonObject, asked: Embed): Embedded | string {
  const vectors = vectorsIn(inOrder(data), asked, (item) => (isObject(item) ? item.embedding : undefined))
  if (typeof vectors === 'string') return vectors
  const { prompt_tokens: prompt, total_tokens: tokens = prompt } = isObject(usage) ? usage : {}
  const { usage: reported } = usageOf(tokens)
  return {
    vectors,
    ...(typeof model === 'string' && { model }),
    ...(typeof id === 'string' && { id }),
    ...(reported && { usage: { ...reported, ...(isObject(usage) && reportedCost(usage)) } }),
  }
}

/** The items by their indexes, where these are the places of a list. */
function inOrder(data: unknown): unknown {
  if (!Array.isArray(data)) return data
  const sorted: unknown[] = []
  for (const item of data) {
    const index: unknown = isObject(item) ? item.index : undefined
    if (typeof index !== 'number' || !(index in data) || index in sorted) return data
    sorted[index] = item
  }
  return sorted
}

/** The answer with its numbers as the client reads them; `undefined` where they are that already. */
function rewritten(json: JsonObject, asked: Embed): JsonObject | undefined {
  const { data } = json
  if (asked.encoding === 'raw' || !Array.isArray(data)) return undefined
  const wanted = asked.encoding === 'base64' ? 'string' : 'object'
  if (data.every((item) => isObject(item) && typeof item.embedding === wanted)) return undefined
  return { ...json, data: data.map((item) => withVector(item, asked)) }
}

const withVector = (item: unknown, asked: Embed): unknown =>
  isObject(item) && isVector(item.embedding, asked.encoding)
    ? { ...item, embedding: inEncoding(item.embedding, asked) }
    : item
