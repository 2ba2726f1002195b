"""The fundamental equation on arrays, for constraints of any rank."""
