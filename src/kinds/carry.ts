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

/** The first of the entries of a part, and the one behind its last. */
type EntryRange = readonly [start: number, end: number]

/** The forms of a kind as requests use them, whatever the kind is about. */
export function kindForms<Asked, Given extends Used>(forms: FormsOfKind<Asked, Given>): KindForms {
  const { clients, vendors, otherwise, division, config, countsTokens } = forms
  const said = countsTokens ? saidIn() : undefined // it sends no words, but has got some

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
      const divided = partsOf(asked, vendor.most?.(target))
      const isDivided = divided.length > 1
      const passed = passedFor(vendor, { client: call.client, asked, target, isDivided })
      const lost = createResponseWarnings()
      const read = { vendor, said, lacking: isDivided ? division?.comparing?.() : undefined }
      const parts = divided.map(({ asked: part, entries }) => {
        if (!passed) return translatedPart(read, part, vendor.request(part, context))
        const list = isDivided ? listOf(passed, { body: call.body, asked, entries }) : {}
        return passedPart(read, passed, { asked: part, text: call.text, context, list })
      })
      return {
        address: { ...addressOf(vendor), config },
        parts,
        isPassThrough: passed !== undefined,
        losses: () => [...warnings.list(), ...lost.list()],
        write(answers, usage) {
          const [first] = answers
          if (passed && !isDivided) return first && passed.rewritten?.(first, asked)
          const given = joined(parts.flatMap(({ given }, at) => (answers[at] ? [given(answers[at])] : [])))
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

  function partsOf(
    asked: Asked,
    most = Number.POSITIVE_INFINITY,
  ): ReadonlyArray<{ asked: Asked; entries: EntryRange }> {
    const size = division?.sizeOf(asked) ?? 0
    if (!division || size <= most) return [{ asked, entries: [0, size] }]
    return Array.from({ length: Math.ceil(size / most) }, (_, at) => {
      const entries = [at * most, Math.min(size, (at + 1) * most)] as const
      return { asked: division.slice(asked, ...entries), entries }
    })
  }

  /** The member of a body that holds its entries, with those of a part alone. */
  function listOf(
    { lists = [] }: PassedForm<Asked>,
    { body, asked, entries }: { body: JsonObject; asked: Asked; entries: EntryRange },
  ): JsonObject {
    const size = division?.sizeOf(asked)
    const found = lists.flatMap((name) => {
      const list = body[name]
      return Array.isArray(list) && list.length === size ? [{ [name]: list.slice(...entries) }] : []
    })
    return found[0] ?? {}
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
  { client, asked, target, isDivided }: { client: string; asked: Asked; target: ProviderTarget; isDivided: boolean },
) =>
  passes.find(
    ({ client: own, lists, isOpen }) => own === client && (!isDivided || lists) && isOpen?.(asked, target) !== false,
  )

const addressOf = ({ baseUrl, base, keyHeader }: Carried['address']): Carried['address'] => ({
  baseUrl,
  base,
  keyHeader,
})

/** How the answers to the parts of a request are read. */
interface PartReading<Asked, Given extends Used> {
  vendor: VendorForm<Asked, Given>
  said: AnswerReader['said'] | undefined
  /** What an answer lacks beside those to the other parts. */
  lacking: ((given: Given) => string | undefined) | undefined
}

interface ReadPart<Given> extends CarriedPart {
  given(json: JsonObject): Given
}

interface Passed<Asked> {
  asked: Asked
  text: string
  context: VendorContext
  /** The member that a part of a divided request has in place of the whole one. */
  list: JsonObject
}

function passedPart<Asked, Given extends Used>(
  reading: PartReading<Asked, Given>,
  { path, without, added, skim }: PassedForm<Asked>,
  { asked, text, context, list }: Passed<Asked>,
): ReadPart<Given> {
  const isPart = Object.keys(list).length > 0
  const body = { ...context.body, ...list }
  const more = { ...list, ...added?.(asked, { ...context, body }) }
  const left = [...(without?.(asked, context) ?? []), ...Object.keys(more)].filter((name) => Object.hasOwn(body, name))
  const isSame = left.length === 0 && Object.keys(more).length === 0
  const sent = isSame ? text : withMembers(text, { without: left, added: more })
  const { answers, given } = answersTo(asked, reading)
  return {
    request: { path: path(context.target), body: sent },
    answers: skim && !isPart ? { ...answers, skim: (answer) => skim(answer, asked) } : answers,
    given,
  }
}

function translatedPart<Asked, Given extends Used>(
  reading: PartReading<Asked, Given>,
  asked: Asked,
  { body, ...request }: VendorRequest,
): ReadPart<Given> {
  return { request: { ...request, ...(body && { body: JSON.stringify(body) }) }, ...answersTo(asked, reading) }
}

/** How the answers of a vendor to this request are read, each once. */
function answersTo<Asked, Given extends Used>(
  asked: Asked,
  { vendor, said, lacking }: PartReading<Asked, Given>,
): { answers: AnswerReader; given(json: JsonObject): Given } {
  const { arraysAs, errorIn, usageIn } = vendor
  let last: { json: JsonObject; given: Given | string } | undefined

  function read(json: JsonObject): Given | string {
    if (last?.json !== json) {
      const given = vendor.answer(json, asked)
      last = { json, given: (typeof given === 'string' ? undefined : lacking?.(given)) ?? given }
    }
    return last.given
  }

  const answers = wholeAnswers({
    ...(said && { said }),
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
