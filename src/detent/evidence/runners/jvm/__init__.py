"""The JVM: Maven and Gradle."""
