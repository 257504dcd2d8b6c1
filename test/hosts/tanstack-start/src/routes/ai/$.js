import { createFileRoute } from '@tanstack/react-router'
import { gateway } from '../../gateway'

export const Route = createFileRoute('/ai/$')({
  server: { handlers: { ANY: ({ request }) => gateway.fetch(request) } },
})
