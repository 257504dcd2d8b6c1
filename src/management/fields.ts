import * as v from 'valibot'
import type { Kind, Strategy, WireFormat } from '../types.ts'

const kinds = [
  'llm',
  'image',
  'tts',
  'stt',
  'embedding',
  'imageToText',
  'webSearch',
  'webFetch',
] as const satisfies Kind[]
const strategies = ['fallback', 'round-robin', 'weighted', 'random', 'least-cost'] as const satisfies Strategy[]
const formats = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const satisfies WireFormat[]

/** The schemas of single fields that several resources share. Lengths are in UTF-16 units. */
export const fields = {
  text: v.string(notText),
  flag: v.boolean('must be true or false'),
  kind: oneOf(kinds),
  strategy: oneOf(strategies),
  format: oneOf(formats),
  /** A name of 1 to 200 characters, trimmed. */
  name: trimmed(200),
  /** A model's name or id of 1 to 512 characters, trimmed. */
  model: trimmed(512),
  /** The same where an object with a model may stand as well. */
  modelOrObject: trimmed(512, 'must be text, or an object with "model"'),
  /** Text that may be blank and stays as it is. */
  raw: (maxLength: number) => v.pipe(v.string(notText), ...bounds(maxLength)),
  /** Sent back by clients that change what they have read, and ignored. */
  ignored: v.exactOptional(v.unknown()),
}

function trimmed(maxLength: number, message: string | typeof notText = notText) {
  return v.pipe(v.string(message), v.trim(), v.nonEmpty('must not be blank'), ...bounds(maxLength))
}

/** Control characters and line breaks forge log lines and displays; half a surrogate pair is no text at all. */
function bounds(maxLength: number) {
  return [
    v.maxLength<string, number, string>(maxLength, `must not be longer than ${maxLength} characters`),
    v.check<string, string>((value) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value), 'must not hold control characters'),
  ] as const
}

function oneOf<const Options extends readonly string[]>(options: Options) {
  return v.picklist(options, `must be one of ${options.map((option) => `"${option}"`).join(', ')}`)
}

function notText(issue: v.StringIssue): string {
  return issue.input === undefined ? 'must not be blank' : 'must be text'
}
