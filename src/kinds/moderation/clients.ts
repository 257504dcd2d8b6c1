import { fieldsOf } from '../../formats/canonical/fields.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientForm } from '../forms.ts'
import type { Moderation, ModerationInput, ModerationRequest } from './moderation.ts'

/** OpenAI's categories. */
const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
]

/** OpenAI's form, which other vendors speak as far as they go. An answer has no category that its vendor does not judge. */
const openai: ClientForm<ModerationRequest, Moderation> = {
  read(body, { warnings }) {
    const { model: _, input: __, ...others } = body
    const input = fieldsOf(body, '', warnings).any('input')
    return {
      inputs: inputsIn(input, warnings),
      isList: Array.isArray(input),
      others: Object.keys(others).filter((name) => others[name] !== null),
    }
  },
  write({ id, results }, { model, newId, lost }) {
    const judged = new Set(results.flatMap(({ categories }) => Object.keys(categories)))
    for (const name of CATEGORIES) if (!judged.has(name)) lost.noteDropped(`categories.${name}`)
    return {
      id: id ?? `modr-${newId()}`,
      model,
      results: results.map(({ flagged, categories, scores }) => ({
        flagged,
        categories,
        category_scores: scores,
        category_applied_input_types: Object.fromEntries(Object.keys(categories).map((name) => [name, ['text']])),
      })),
    }
  },
}

/** What clients of moderation send and read. */
export const clients = { openai }

function inputsIn(input: unknown, warnings: Warnings): readonly ModerationInput[] {
  if (typeof input === 'string') return [{ text: input }]
  if (!Array.isArray(input) || input.length === 0)
    return warnings.refuse('input', 'is required: a text, a list of texts, or a list of parts.')
  if (input.every((one) => typeof one === 'string')) return input.map((text) => ({ text }))
  return [inputOfParts(input, warnings)]
}

/** Parts are judged together. */
function inputOfParts(list: readonly unknown[], warnings: Warnings): ModerationInput {
  const texts: string[] = []
  let image: string | undefined
  for (const [at, part] of list.entries()) {
    const path = `input[${at}]`
    if (isTextPart(part)) texts.push(part.text)
    else if (isImagePart(part)) image ??= path
    else warnings.refuse(path, 'must be a part of the type "text" or "image_url", or every entry a string.')
  }
  return { text: texts.join('\n'), image }
}

const isTextPart = (part: unknown): part is { text: string } =>
  isObject(part) && part.type === 'text' && typeof part.text === 'string'

const isImagePart = (part: unknown): part is JsonObject =>
  isObject(part) && part.type === 'image_url' && isObject(part.image_url) && typeof part.image_url.url === 'string'
