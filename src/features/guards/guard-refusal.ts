import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Guard } from './guard.ts'

/** Creates the error of a refusal. It names the guard, and never repeats what was found. */
export const createRefusal = ({ name, message }: Guard, category: string | undefined): GatewayError =>
  gatewayError('CONTENT_REFUSED', {
    message: message ?? `The guard "${name}" rejected the content of this request.`,
    data: { guard: name, category },
    headers: { 'x-signalbox-guards': `refused; name=${name}` },
  })
