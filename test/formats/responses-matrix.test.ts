import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { type Understood, wholeClients } from './support/clients.ts'
import { contexts } from './support/contexts.ts'
import { getShare, getTranslator, printMatrix } from './support/matrix.ts'
import { recordedExchanges } from './support/recordings.ts'

const test = suite('every recorded response for clients of every format')

/** The folders with a format's recorded responses, and a field that all of them have. */
const recorded: Readonly<Record<WireFormat, { folders: string[]; url: RegExp; member: string }>> = {
  'openai-chat': { folders: ['openai-chat', 'openai-compatible'], url: /\/chat\/completions/, member: 'choices' },
  'openai-responses': { folders: ['openai-responses'], url: /\/responses(?:\?|$)/, member: 'output' },
  'anthropic-messages': { folders: ['anthropic'], url: /\/messages(?:\?|$)/, member: 'content' },
  gemini: { folders: ['gemini'], url: /:generateContent/, member: 'candidates' },
}

interface Recording {
  name: string
  response: JsonObject
  expected: Partial<Understood>
}

function getAnswers(format: WireFormat): Pick<Recording, 'name' | 'response'>[] {
  const { folders, url, member } = recorded[format]
  return recordedExchanges(folders).flatMap(({ name, url: requestUrl, status, response }) =>
    url.test(requestUrl) && status === 200 && isObject(response) && Array.isArray(response[member])
      ? [{ name, response }]
      : [],
  )
}

/**
 * Returns how the vendor's own client reads the vendor's own response, without features that the client doesn't know: reasoning in other fields, text
 * in fragments, legacy functions, and incomplete responses.
 */
async function wanted(format: WireFormat, response: JsonObject): Promise<Partial<Understood>> {
  const { reasoning, text, calls, finish, ...counts } = await wholeClients[format](Response.json(response))
  if (format === 'openai-responses' && !/^(completed|incomplete)$/.test(String(response.status))) return {}
  const message = getMessage(response)
  const hasOldCall = isObject(message.function_call)
  return {
    ...counts,
    ...(reasoning !== '' && { reasoning }),
    ...(!Array.isArray(message.content) && !message.audio && { text }),
    ...(!hasOldCall && { calls, finish: finish === 'stop' && calls.length > 0 ? 'calls' : finish }),
  }
}

function getMessage({ choices }: JsonObject): JsonObject {
  const [choice] = Array.isArray(choices) ? choices : []
  return isObject(choice) && isObject(choice.message) ? choice.message : {}
}

function translate(response: JsonObject, from: WireFormat, to: WireFormat): Promise<Response> {
  return Promise.all([getTranslator(from), getTranslator(to)]).then(([source, client]) => {
    const { read, write } = contexts(source, { format: from })
    return Response.json(client.writeResponse(source.parseResponse(response, read), write({ stream: false })))
  })
}

/** Joins reasoning, which formats split differently. */
const comparable = (value: unknown) => JSON.stringify(value)?.replace(/\\n/g, '')

const passed = new Map<string, string>()

for (const from of wireFormats) {
  let recordings: Promise<Recording[]> | undefined
  for (const to of wireFormats)
    test(`recorded ${from} responses keep their meaning for ${to} clients`, async () => {
      const failures: string[] = []
      recordings ??= Promise.all(
        getAnswers(from).map(async (item) => ({ ...item, expected: await wanted(from, item.response) })),
      )
      const all = await recordings
      assert.ok(all.length > 300, `${all.length} responses`)
      const responses = getShare(all, from, to)
      for (const { name, response, expected } of responses) {
        const understood = await translate(response, from, to).then(wholeClients[to]).catch(String)
        for (const [field, value] of Object.entries(expected)) {
          const actual = typeof understood === 'string' ? understood : understood[field as keyof Understood] // `field` is a key of the same type
          if (comparable(actual) === comparable(value)) continue
          failures.push(
            `${name}: ${field} ${JSON.stringify(actual)?.slice(0, 300)} instead of ${JSON.stringify(value)?.slice(0, 300)}`,
          )
          break
        }
      }
      passed.set(`${from} ${to}`, `${responses.length - failures.length}/${responses.length}`)
      assert.equal(failures.slice(0, 10), [], `${failures.length} of ${responses.length} failed`)
    })
}

test.after(() => printMatrix(passed))
