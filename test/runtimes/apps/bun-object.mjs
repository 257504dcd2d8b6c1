import { openGateway } from './gateway.mjs'

const server = Bun.serve(openGateway())
console.log(`http://127.0.0.1:${server.port}`)
