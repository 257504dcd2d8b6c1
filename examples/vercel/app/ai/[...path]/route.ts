import { after } from 'next/server'
import { gateway } from '../../../lib/gateway.ts'

/** Serves the gateway's API for signed-in users at /ai/v1, and the dashboard for admins at /ai/admin. */
const handler = (request: Request) => gateway.fetch(request, { waitUntil: after })

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST, handler as PUT }
