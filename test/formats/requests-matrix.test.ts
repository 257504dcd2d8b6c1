import { isGatewayError } from '../../src/errors.ts'
import { prepareRequest } from '../../src/formats/canonical/prepare/prepare.ts'
import type { Translator } from '../../src/formats/translator.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { traitsFor } from '../../src/providers/traits.ts'
import type { Traits } from '../../src/traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'
import { printMatrix, shareOf, translatorOf } from './support/matrix.ts'
import { recordedExchanges } from './support/recordings.ts'
import { strictModels } from './support/validators/models.ts'
import type { Validator } from './support/validators/validator.ts'
import { validators } from './support/validators/validators.ts'

const test = suite('every recorded request, for the provider of every format')

/** Where the requests of a format are, and what their addresses look like. */
const places: Readonly<Record<WireFormat, { folders: string[]; path: RegExp }>> = {
  'openai-chat': { folders: ['openai-chat', 'openai-compatible'], path: /\/chat\/completions(\?|$)/ },
  'openai-responses': { folders: ['openai-responses'], path: /\/responses(\?|$)/ },
  'anthropic-messages': { folders: ['anthropic'], path: /\/messages(\?|$)/ },
  gemini: { folders: ['gemini'], path: /:(stream)?[gG]enerateContent(\?|$)/ },
}

interface Recorded {
  name: string
  body: JsonObject
}

/** What the vendor that was asked takes, though the one whose rules are held to it here does not. */
const LENIENT = /openrouter_google_nested_schema|ref_sibling_wire_contract-qwen-nested-model/

/** Each request once, but for those that the vendor itself refused. */
function recordedRequests({ folders, path }: (typeof places)[WireFormat]): Recorded[] {
  const known = new Map<string, Recorded>()
  for (const { name, url, status, request } of recordedExchanges(folders)) {
    if (!path.test(url) || !isObject(request) || /^4(00|04|22)$/.test(`${status}`) || LENIENT.test(name)) continue
    known.set(JSON.stringify(request), { name, body: request })
  }
  return [...known.values()]
}

/** What a client of `from` asks, as the target gets it. */
function translated(body: JsonObject, from: Translator, { translator: to, format, model, traits }: Target): JsonObject {
  const { warnings } = contexts(from)
  const target = { ...contexts(to, { format }).target, model, traits, warnings }
  const asked = from.parseRequest(body, { warnings, route: { model: 'm', stream: true } })
  const { request } = prepareRequest(asked, { ...target, carries: to.carries })
  return JSON.parse(JSON.stringify(to.writeRequest(request, target).body))
}

interface Target {
  format: WireFormat
  translator: Translator
  model: string
  traits: Traits
  problems: Validator
}

/** The format at its most generous, and a model that is not. */
async function targetsOf(format: WireFormat): Promise<Target[]> {
  const translator = await translatorOf(format)
  const { provider, model, problems } = strictModels[format]
  const traits = traitsFor(translator.traits, { provider, model, format }, {})
  return [
    { format, translator, model: 'm', traits: translator.traits, problems: validators[format] },
    { format, translator, model, traits, problems: (body) => [...validators[format](body), ...problems(body)] },
  ]
}

/** What no provider of another format could be asked for, by the field that is refused and why. */
const UNSAYABLE = [
  // Tools, and traces of them, that run at one vendor.
  /^(tools\[\d+\](\.\w+)?|(container|mcp_servers)|(messages|input)\[\d+\](\.content\[\d+\])?\.type): .*(cannot|can) be passed on\.$/,
  // What is kept at one vendor.
  /^(previous_response_id|conversation|background): nothing is stored here/,
  /^cachedContent: /,
  /: the id of a file at one vendor means nothing to another\. Send its bytes as base64\.$|: the target takes no file by its id here\.$/,
  // What one vendor has compacted.
  /^input\[\d+\]: was compacted and encrypted by another provider/,
  // What cannot be seen, heard or said there.
  /: the target cannot take (sound|video)\. Leave it out, or use a model that takes it\.$|: the target takes audio as WAV or MP3 data only\.$/,
  /: the target takes no file of type [\w./-]+\. Send it as (?:PDF or as text|PDF)\.$/,
  /: the target cannot take (?:(?:images|files) by their|(?:sound|video) by its) address\. Send the bytes as base64\.$/,
  /^(modalities|generationConfig\.responseModalities|n|moderation): the target cannot do this\.$/,
  /^(audio|speech): the target speaks in pcm16 only\.$/,
  /: the target (cannot keep a search to certain domains|has no search of its own)\.$/,
]

/** How many the vendor takes, and how many cannot be carried. */
const tally = new Map<string, string>()

for (const from of wireFormats) {
  for (const to of wireFormats) {
    test(`${from} for ${to}`, async () => {
      const [source, targets] = await Promise.all([translatorOf(from), targetsOf(to)])
      const all = recordedRequests(places[from])
      assert.ok(all.length > 250)
      const asked = shareOf(all, from, to)
      const requests = asked.flatMap((recorded) => targets.map((target) => ({ ...recorded, target })))
      const failures: string[] = []
      let refused = 0
      for (const { name, body, target } of requests) {
        try {
          const problems = target.problems(translated(body, source, target))
          if (problems.length > 0) failures.push(`${name} for ${target.model}: ${problems.slice(0, 3).join('; ')}`)
        } catch (error) {
          if (isUnsayable(error)) refused++
          else failures.push(`${name} for ${target.model}: ${error}`)
        }
      }
      const carried = requests.length - failures.length - refused
      tally.set(`${from} ${to}`, `${carried}/${requests.length - refused} (${refused} not)`)
      assert.ok(carried > asked.length)
      assert.equal(failures.slice(0, 10), [], `${failures.length} of ${requests.length}`)
    })
  }
}

/** Is it told which field cannot be carried, and is that so? */
function isUnsayable(error: unknown): boolean {
  if (!isGatewayError(error) || error.code !== 'INVALID_REQUEST') return false
  const { param } = error.data
  if (typeof param !== 'string' || !error.message.startsWith(`"${param}": `)) return false
  const told = `${param}: ${error.message.slice(`"${param}": `.length)}`
  return UNSAYABLE.some((reason) => reason.test(told))
}

test.after(() => printMatrix(tally))
