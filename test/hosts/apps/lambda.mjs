import { toLambdaHandler } from 'signalbox/lambda'
import { gateway } from './gateway.mjs'

export const handler = toLambdaHandler(gateway)
