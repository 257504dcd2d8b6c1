import { createResponseWarnings } from '../formats/canonical/warnings.ts'
import { embeddedError } from '../formats/errors/embedded.ts'
import { type AnswerReader, saidIn, wholeAnswers } from '../formats/format.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { withMembers } from '../lib/json-scan.ts'
import type { ProviderTarget } from '../providers/target.ts'
import type {
  Carried,
  CarriedPart,
  FormsOfKind,
  KindForms,
  PassedForm,
  Used,
  VendorContext,
  VendorForm,
  VendorRequest,
} from './forms.ts'

/** The forms of a kind as requests use them, whatever the kind is about. */
export function kindForms<Asked, Given extends Used>(forms: FormsOfKind<Asked, Given>): KindForms {
  const { clients, vendors, otherwise, division, config, countsTokens } = forms
  const reading = countsTokens ? { said: saidIn() } : {} // it sends no words, but has got some

  return {
    clients: Object.keys(clients),
    vendors: [...vendors, otherwise].map(({ name }) => name),
    carry(call, target) {
      const client = clients[call.client]
      if (!client) throw new TypeError(`There is no form "${call.client}" of clients.`)
      const vendor = vendorOf(target)
      const warnings = call.warningsFor(client.fieldNames)
      const asked = client.read(call.body, { warnings, header: call.header, now: call.now() })
      const context = { target, warnings, body: call.body }
      const parts = partsOf(asked, vendor.most?.(target))
      const passed = parts.length === 1 ? passedFor(vendor, call.client, asked, target) : undefined
      if (passed) {
        const { rewritten } = passed
        return {
          address: { ...addressOf(vendor), config },
          parts: [passedPart(vendor, passed, { asked, text: call.text, context, reading })],
          isPassThrough: true,
          losses: warnings.list,
          write: ([json]) => json && rewritten?.(json, asked),
        }
      }
      const lost = createResponseWarnings()
      const translated = parts.map((part) => translatedPart({ vendor, reading }, part, vendor.request(part, context)))
      return {
        address: { ...addressOf(vendor), config },
        parts: translated,
        isPassThrough: false,
        losses: () => [...warnings.list(), ...lost.list()],
        write(answers, usage) {
          const given = joined(translated.flatMap(({ given }, at) => (answers[at] ? [given(answers[at])] : [])))
          const { model = target.model } = given
          return client.write(
            { ...given, usage },
            { asked, lost, provider: target.provider, model, now: call.now(), newId: call.newId },
          )
        },
      }
    },
  }

  function vendorOf(target: ProviderTarget): VendorForm<Asked, Given> {
    const named = target.form && vendors.find(({ name }) => name === target.form)
    return named || vendors.find((vendor) => isOf(vendor, target)) || otherwise
  }

  function partsOf(asked: Asked, most = Number.POSITIVE_INFINITY): readonly Asked[] {
    const size = division?.sizeOf(asked) ?? 0
    if (!division || size <= most) return [asked]
    return Array.from({ length: Math.ceil(size / most) }, (_, at) =>
      division.slice(asked, at * most, Math.min(size, (at + 1) * most)),
    )
  }

  function joined(given: readonly Given[]): Given {
    const [first, ...others] = given
    if (first === undefined) throw new TypeError('There is no answer to write.')
    return division && others.length > 0 ? division.join(given) : first
  }
}

const isOf = <Asked, Given extends Used>({ providers, isOf }: VendorForm<Asked, Given>, target: ProviderTarget) =>
  isOf ? isOf(target) : (providers?.includes(target.provider) ?? false)

/** How requests of these clients are passed through to a target, if they are. */
const passedFor = <Asked, Given extends Used>(
  { passes = [] }: VendorForm<Asked, Given>,
  client: string,
  asked: Asked,
  target: ProviderTarget,
) => passes.find((passed) => passed.client === client && passed.isOpen?.(asked, target) !== false)

const addressOf = ({ baseUrl, base, keyHeader }: Carried['address']): Carried['address'] => ({
  baseUrl,
  base,
  keyHeader,
})

/** How the answers of a kind are read, whatever the vendor. */
type Reading = Pick<AnswerReader, 'said'>

interface Passed<Asked> {
  asked: Asked
  text: string
  context: VendorContext
  reading: Reading
}

function passedPart<Asked, Given extends Used>(
  vendor: VendorForm<Asked, Given>,
  { path, without, added, skim }: PassedForm<Asked>,
  { asked, text, context, reading }: Passed<Asked>,
): CarriedPart {
  const { target, body } = context
  const more = added?.(asked, context) ?? {}
  const left = [...(without?.(asked, context) ?? []), ...Object.keys(more)].filter((name) => Object.hasOwn(body, name))
  const isSame = left.length === 0 && Object.keys(more).length === 0
  const sent = isSame ? text : withMembers(text, { without: left, added: more })
  const { answers } = answersTo(asked, { vendor, reading })
  return {
    request: { path: path(target), body: sent },
    answers: skim ? { ...answers, skim: (answer) => skim(answer, asked) } : answers,
  }
}

interface TranslatedPart<Given> extends CarriedPart {
  given(json: JsonObject): Given
}

function translatedPart<Asked, Given extends Used>(
  read: Read<Asked, Given>,
  asked: Asked,
  { body, ...request }: VendorRequest,
): TranslatedPart<Given> {
  return { request: { ...request, ...(body && { body: JSON.stringify(body) }) }, ...answersTo(asked, read) }
}

interface Read<Asked, Given extends Used> {
  vendor: VendorForm<Asked, Given>
  reading: Reading
}

/** How the answers of a vendor to this request are read, each once. */
function answersTo<Asked, Given extends Used>(
  asked: Asked,
  { vendor, reading }: Read<Asked, Given>,
): { answers: AnswerReader; given(json: JsonObject): Given } {
  const { arraysAs, errorIn, usageIn } = vendor
  let last: { json: JsonObject; given: Given | string } | undefined

  function read(json: JsonObject): Given | string {
    if (last?.json !== json) last = { json, given: vendor.answer(json, asked) }
    return last.given
  }

  const answers = wholeAnswers({
    ...reading,
    isAnswer: (json) => typeof read(json) !== 'string',
    needs(json) {
      const given = read(json)
      return typeof given === 'string' ? given : undefined
    },
    ...(arraysAs !== undefined && { arraysAs }),
    errorIn(json) {
      if (!isObject(json)) return undefined
      return errorIn ? errorIn(json, asked) : embeddedError(json.error)
    },
    usageOf(json, header) {
      const given = isObject(json) ? read(json) : ''
      return typeof given === 'string' ? undefined : (given.usage ?? (header && usageIn?.(header)))
    },
  })
  return {
    answers,
    given(json) {
      const given = read(json)
      if (typeof given === 'string') throw new TypeError('A body that is no answer was taken for one.')
      return given
    },
  }
}
