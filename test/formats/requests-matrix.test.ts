import { isGatewayError } from '../../src/errors.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import type { Translator } from '../../src/protocols/formats/translator.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import type { Traits } from '../../src/traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'
import { getShare, getTranslator, printMatrix } from './support/matrix.ts'
import { recordedExchanges } from './support/recordings.ts'
import { strictModels } from './support/validators/models.ts'
import type { Validator } from './support/validators/validator.ts'
import { validators } from './support/validators/validators.ts'

const test = suite('every recorded request for providers of every format')

/** The folders with requests in a format, and the pattern of their URLs. */
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

/** Recordings that the recorded vendor accepts, but the vendor that defines the rules doesn't. */
const LENIENT = /openrouter_google_nested_schema|ref_sibling_wire_contract-qwen-nested-model/

/** Yields each request once, except requests that the vendor itself rejected. */
function recordedRequests({ folders, path }: (typeof places)[WireFormat]): Recorded[] {
  const known = new Map<string, Recorded>()
  for (const { name, url, status, request } of recordedExchanges(folders)) {
    if (!path.test(url) || !isObject(request) || /^4(00|04|22)$/.test(`${status}`) || LENIENT.test(name)) continue
    known.set(JSON.stringify(request), { name, body: request })
  }
  return [...known.values()]
}

/** Returns the request as the target receives it from a client of `from`. */
function translate(body: JsonObject, from: Translator, { translator: to, format, model, traits }: Target): JsonObject {
  const { warnings } = contexts(from)
  const target = { ...contexts(to, { format }).target, model, traits, warnings }
  const parsed = from.parseRequest(body, { warnings, route: { model: 'm', stream: true } })
  const { request } = prepareRequest(parsed, { ...target, supportedOptions: to.supportedOptions })
  return JSON.parse(JSON.stringify(to.writeRequest(request, target).body))
}

interface Target {
  format: WireFormat
  translator: Translator
  model: string
  traits: Traits
  problems: Validator
}

/** Returns the format's most permissive model, and a strict one. */
async function getTargets(format: WireFormat): Promise<Target[]> {
  const translator = await getTranslator(format)
  const { provider, model, problems } = strictModels[format]
  const traits = getTraits(translator.traits, { provider, model, format }, {})
  return [
    { format, translator, model: 'm', traits: translator.traits, problems: validators[format] },
    { format, translator, model, traits, problems: (body) => [...validators[format](body), ...problems(body)] },
  ]
}

/** Features that no provider of another format supports: the rejected field and the reason. */
const UNSAYABLE = [
  // Tools that run at one vendor, and references to them.
  /^(tools\[\d+\](\.\w+)?|(container|mcp_servers)|(messages|input)\[\d+\](\.content\[\d+\])?\.type): .*(?:only works? with|only Anthropic supports|is only supported|are not supported|is not supported|cannot be sent to another)/,
  // State stored at one vendor.
  /^(previous_response_id|conversation|background): this gateway does not store responses/,
  /^cachedContent: /,
  /: a file ID is only valid with its own vendor\. Send the file as base64\.$|: the target does not accept file IDs here\.$/,
  // One vendor's compactions.
  /^input\[\d+\]: was compacted and encrypted by another provider/,
  // Unsupported media.
  /: the target does not support (audio|sound|video)\. Remove it, or use a model that supports it\.$|: the target only accepts audio as WAV or MP3 data\.$/,
  /: the target does not support (?:files|a file) of type [\w./-]+\. Send it as PDF(?: or text)?\.$/,
  /: the target does not support (?:images|files|audio|video) by URL\. Send the bytes as base64\.$/,
  /^(modalities|generationConfig\.responseModalities|n|moderation): the target does not support this\.$/,
  /^(audio|speech): the target only supports pcm16 output\.$/,
  /: the target (cannot limit a search to certain domains|has no built-in search)\.$/,
]

/** Counts the requests that the vendor accepts, and those that aren't supported. */
const tally = new Map<string, string>()

for (const from of wireFormats) {
  for (const to of wireFormats) {
    test(`recorded ${from} requests are valid for ${to} providers`, async () => {
      const [source, targets] = await Promise.all([getTranslator(from), getTargets(to)])
      const all = recordedRequests(places[from])
      assert.ok(all.length > 250)
      const parsed = getShare(all, from, to)
      const requests = parsed.flatMap((recorded) => targets.map((target) => ({ ...recorded, target })))
      const failures: string[] = []
      let rejected = 0
      for (const { name, body, target } of requests) {
        try {
          const problems = target.problems(translate(body, source, target))
          if (problems.length > 0) failures.push(`${name} for ${target.model}: ${problems.slice(0, 3).join('; ')}`)
        } catch (error) {
          if (isUnsupported(error)) rejected++
          else failures.push(`${name} for ${target.model}: ${error}`)
        }
      }
      const carried = requests.length - failures.length - rejected
      tally.set(`${from} ${to}`, `${carried}/${requests.length - rejected} (${rejected} not)`)
      assert.ok(carried > parsed.length)
      assert.equal(failures.slice(0, 10), [], `${failures.length} of ${requests.length} failed`)
    })
  }
}

/** Returns whether the rejection names an unsupported field. */
function isUnsupported(error: unknown): boolean {
  if (!isGatewayError(error) || error.code !== 'INVALID_REQUEST') return false
  const { param } = error.data
  if (typeof param !== 'string' || !error.message.startsWith(`"${param}": `)) return false
  const result = `${param}: ${error.message.slice(`"${param}": `.length)}`
  return UNSAYABLE.some((reason) => reason.test(result))
}

test.after(() => printMatrix(tally))
