import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Guard } from './guard.ts'

/** Creates the error for a rejection. The error names the guard and never repeats the content. */
export const createGuardRejection = ({ name, message }: Guard, category: string | undefined): GatewayError =>
  gatewayError('CONTENT_REFUSED', {
    message: message ?? `The guard "${name}" rejected the content of this request.`,
    data: { guard: name, category },
    headers: { 'x-signalbox-guards': `refused; name=${name}` },
  })
