import { isObject, type JsonObject } from '../../../lib/json.ts'
import { readFields } from '../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { ClientAdapter } from '../kind-adapters.ts'
import type { ModerationInput, ModerationRequest, ModerationResponse } from './moderation.ts'

const OPENAI_CATEGORIES = [
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

/** OpenAI's API. A response contains only the categories that its vendor checks. */
const openai: ClientAdapter<ModerationRequest, ModerationResponse> = {
  read(body, { warnings }) {
    const { model: _, input: __, ...otherFields } = body
    const input = readFields(body, '', warnings).any('input')
    return {
      inputs: readInputs(input, warnings),
      isList: Array.isArray(input),
      otherFieldNames: Object.keys(otherFields).filter((name) => otherFields[name] !== null),
    }
  },
  write({ id, results }, { model, newId, warnings }) {
    const knownCategories = new Set(results.flatMap(({ categories }) => Object.keys(categories)))
    for (const name of OPENAI_CATEGORIES) if (!knownCategories.has(name)) warnings.recordDrop(`categories.${name}`)
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

/** The client adapters for moderation. */
export const clients = { openai }

function readInputs(input: unknown, warnings: Warnings): readonly ModerationInput[] {
  if (typeof input === 'string') return [{ text: input }]
  if (!Array.isArray(input) || input.length === 0)
    return warnings.reject('input', 'is required: a string, an array of strings, or an array of parts.')
  if (input.every((item) => typeof item === 'string')) return input.map((text) => ({ text }))
  return [readParts(input, warnings)]
}

/** Reads one input's parts, which are moderated together. */
function readParts(list: readonly unknown[], warnings: Warnings): ModerationInput {
  const texts: string[] = []
  let image: string | undefined
  for (const [index, part] of list.entries()) {
    const path = `input[${index}]`
    if (isTextPart(part)) texts.push(part.text)
    else if (isImagePart(part)) image ??= path
    else warnings.reject(path, 'must be a part of type "text" or "image_url", or all entries must be strings.')
  }
  return { text: texts.join('\n'), image }
}

const isTextPart = (part: unknown): part is { text: string } =>
  isObject(part) && part.type === 'text' && typeof part.text === 'string'

const isImagePart = (part: unknown): part is JsonObject =>
  isObject(part) && part.type === 'image_url' && isObject(part.image_url) && typeof part.image_url.url === 'string'
