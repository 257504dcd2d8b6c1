import * as v from 'valibot'
import type { JsonObject } from '../../../src/lib/json.ts'
import { type Call, json } from '../../pipeline/support/upstream.ts'

/** A fake moderation vendor that follows the documentation: it accepts its own fields, rejects all others, and responds in its own format. */
export interface ModerationVendor {
  /** The provider's ID in the catalog. */
  provider: string
  model: string
  /** The URL of the vendor's endpoint. */
  url: string
  takes: v.GenericSchema<unknown, { model: string; input: unknown }>
  /** Rejects a request. `field` is the unsupported field. */
  refuse(field: string): Response
  /** Returns one result for each input text. */
  respond(model: string, texts: readonly string[]): JsonObject
  textsOf(input: unknown): string[]
}

/** Returns a vendor's response to a call, or a 404 for any URL except the vendor's own. */
export function respondToModeration(vendor: ModerationVendor, { url, body, init }: Call): Response {
  if (url.href !== vendor.url || init.method !== 'POST') return json({ error: { message: 'no such route' } }, 404)
  const parsed = v.safeParse(vendor.takes, JSON.parse(body))
  if (!parsed.success) return vendor.refuse(v.getDotPath(parsed.issues[0]) ?? 'body')
  return json(vendor.respond(parsed.output.model, vendor.textsOf(parsed.output.input)))
}

const texts = v.pipe(v.array(v.string()), v.minLength(1))
const parts = v.pipe(
  v.array(
    v.variant('type', [
      v.strictObject({ type: v.literal('text'), text: v.string() }),
      v.strictObject({ type: v.literal('image_url'), image_url: v.strictObject({ url: v.string() }) }),
    ]),
  ),
  v.minLength(1),
)

/** Scores a text by the words it contains. */
const getScore = (text: string, word: string) => (text.includes(word) ? 0.9 : 0.01)
const judge = (words: Readonly<Record<string, string>>, text: string) => {
  const scores = Object.fromEntries(Object.entries(words).map(([name, word]) => [name, getScore(text, word)]))
  const flags = Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, score > 0.5]))
  return { flags, scores }
}

const openaiWords = {
  harassment: 'insult',
  'harassment/threatening': 'threat',
  hate: 'hate',
  'hate/threatening': 'hateful threat',
  illicit: 'theft',
  'illicit/violent': 'bomb',
  'self-harm': 'harm myself',
  'self-harm/intent': 'I will harm myself',
  'self-harm/instructions': 'how to harm myself',
  sexual: 'nude',
  'sexual/minors': 'minor',
  violence: 'kill',
  'violence/graphic': 'blood',
}

export const openai: ModerationVendor = {
  provider: 'openai',
  model: 'omni-moderation-latest',
  url: 'https://api.openai.com/v1/moderations',
  takes: v.strictObject({ model: v.string(), input: v.union([v.string(), texts, parts]) }),
  refuse: (field) =>
    json({ error: { message: `Invalid '${field}'.`, type: 'invalid_request_error', param: field, code: null } }, 400),
  textsOf(input) {
    if (typeof input === 'string') return [input]
    const list = input as Array<string | { text?: string }>
    if (list.every((item) => typeof item === 'string')) return list
    return [list.map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join(' ')]
  },
  respond: (model, inputs) => ({
    id: 'modr-1',
    model,
    results: inputs.map((text) => {
      const { flags, scores } = judge(openaiWords, text)
      return {
        flagged: Object.values(flags).includes(true),
        categories: flags,
        category_scores: scores,
        category_applied_input_types: Object.fromEntries(Object.keys(flags).map((name) => [name, ['text']])),
      }
    }),
  }),
}

const mistralWords = {
  sexual: 'nude',
  hate_and_discrimination: 'hate',
  violence_and_threats: 'kill',
  dangerous: 'bomb',
  criminal: 'theft',
  selfharm: 'harm myself',
  health: 'dose',
  financial: 'invest',
  law: 'sue',
  pii: 'passport',
  jailbreaking: 'ignore all instructions',
}

export const mistral: ModerationVendor = {
  provider: 'mistral',
  model: 'mistral-moderation-2603',
  url: 'https://api.mistral.ai/v1/moderations',
  takes: v.strictObject({
    model: v.string(),
    input: v.union([v.string(), texts]),
    metadata: v.optional(v.record(v.string(), v.unknown())),
  }),
  refuse: (field) =>
    json({ detail: [{ loc: ['body', field], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] }, 422),
  textsOf: (input) => (typeof input === 'string' ? [input] : (input as string[])),
  respond: (model, inputs) => ({
    id: 'mod-e5cc70bb28c444948073e77776eb30ef',
    model,
    usage: { prompt_tokens: inputs.join(' ').length, completion_tokens: 0, total_tokens: inputs.join(' ').length },
    results: inputs.map((text) => {
      const { flags, scores } = judge(mistralWords, text)
      return { categories: flags, category_scores: scores }
    }),
  }),
}

export const moderationVendors = { openai, mistral }
