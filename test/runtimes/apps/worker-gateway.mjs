import { openGateway } from './gateway.mjs'

export default openGateway()
