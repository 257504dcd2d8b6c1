import { isObject, type JsonObject } from '../../lib/json.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { textIn } from '../canonical/text-in.ts'
import { createPartialArgs, type PartialArgs } from './partial-args.ts'

/** A function call as it is once all of it is there. */
export interface WholeCall {
  id: string | undefined
  name: string
  arguments: string
  signature: string | undefined
}

/** Puts calls together that come in several parts; most come in one. */
export interface CallAssembler {
  /** The calls that are complete with this part. */
  take(part: JsonObject): WholeCall[]
  /** The call that was not complete, if any: nothing says its end when another part, or no part, follows. */
  flush(): WholeCall[]
}

/** `onNameless` is told of a call that never had a name. */
export function createCallAssembler(onNameless: () => void): CallAssembler {
  let open: (Omit<WholeCall, 'arguments'> & { args: PartialArgs }) | undefined

  function flush(): WholeCall[] {
    if (!open) return []
    const { args, ...call } = open
    open = undefined
    return [{ ...call, arguments: args.text() }]
  }

  function take({ functionCall, thoughtSignature }: JsonObject): WholeCall[] {
    if (!isObject(functionCall)) return []
    const { name, args, partialArgs, willContinue } = functionCall
    const before = name ? flush() : []
    const whole = { id: textIn(functionCall.id), signature: textIn(thoughtSignature) }
    if (typeof name === 'string' && name !== '') {
      if (willContinue !== true && partialArgs === undefined)
        return [...before, { ...whole, name, arguments: argumentsText(args) }]
      open = { ...whole, name, args: createPartialArgs() }
    } else if (!open) {
      if (Object.keys(functionCall).length > 0) onNameless()
      return before
    }
    open?.args.add(partialArgs)
    if (open) open.signature ??= whole.signature
    return willContinue === true ? before : [...before, ...flush()]
  }

  return { take, flush }
}
